package backend

// InlineLimit is the size in bytes up to which the store copies a value into each record that holds it. The store
// keeps a larger value once, as a payload of the run.
//
//limit:values value copied into records (`backend.InlineLimit`) | {B} | stored once
const InlineLimit = 256
