import binaryen from "binaryen";

/** A slim module whose `strip` runs into a trap. @param {Uint8Array} wasm */
export function withTrap(wasm) {
  const module = binaryen.readBinary(wasm);
  const { value } = binaryen.getExportInfo(module.getExport("strip"));
  /** @type {any} */ (binaryen).Function.setBody(module.getFunction(value), module.unreachable());
  return module.emitBinary();
}
