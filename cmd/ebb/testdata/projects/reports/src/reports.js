exports.collect = async (event) => ({rows: 3, sign: Boolean(event.sign)});
exports.render = async (event) => ({...event, pages: 1});
exports.send = async (event) => ({...event, sent: true});
