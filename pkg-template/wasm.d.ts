/** The type of an import of one of the `.wasm` files, where the bundler or runtime gives a compiled module. */
declare const module: WebAssembly.Module;
export default module;
