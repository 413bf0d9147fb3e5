const tools = require("tools");
exports.handler = async (size) => ({size, cost: tools.cost(size)});
