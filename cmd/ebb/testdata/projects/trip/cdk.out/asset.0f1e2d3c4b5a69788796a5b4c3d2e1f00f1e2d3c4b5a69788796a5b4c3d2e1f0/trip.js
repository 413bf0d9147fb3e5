exports.reserve = async (trip) => ({...trip, reserved: true});
exports.pay = async (trip) => {
  if (trip.broke) {
    throw new Error("no money");
  }
  return {...trip, paid: true};
};
exports.cancel = async () => ({cancelled: true});
