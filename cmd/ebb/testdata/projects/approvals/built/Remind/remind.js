exports.handler = async (event) => ({...event, remind: true});
