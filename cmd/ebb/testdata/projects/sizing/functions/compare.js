exports.handler = async (all) => all.reduce((best, one) => (one.cost < best.cost ? one : best));
