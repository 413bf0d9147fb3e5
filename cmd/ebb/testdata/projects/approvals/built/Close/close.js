exports.handler = async (event) => ({...event, close: true});
