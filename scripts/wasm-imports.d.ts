/** What workerd gives for an import of a `.wasm` file. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
