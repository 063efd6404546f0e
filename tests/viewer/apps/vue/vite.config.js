import vue from "@vitejs/plugin-vue";

const isCustomElement = (tag) => tag.startsWith("token2text-");
export default { plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] };
