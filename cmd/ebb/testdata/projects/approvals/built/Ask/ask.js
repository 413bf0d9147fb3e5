exports.handler = async (event) => ({...event, ask: true});
