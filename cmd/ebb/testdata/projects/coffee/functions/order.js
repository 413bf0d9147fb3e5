exports.take = async (event) => ({order: event.detail ? event.detail.drink : event.drink});
exports.pour = async (event) => ({...event, poured: true});
exports.notify = async (event) => ({...event, told: process.env.TO, bus: process.env.BUS});
