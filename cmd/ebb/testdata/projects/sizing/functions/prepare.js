exports.handler = async () => process.env.sizes.split(",").map(Number);
