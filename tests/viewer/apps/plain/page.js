const { dataset } = document.body;
const viewer = document.querySelector("token2text-viewer");
viewer.addEventListener("loaded", ({ detail }) => (dataset.loaded = detail.rollouts));
viewer.addEventListener("select", ({ detail }) => (dataset.selected = detail.rollout?.requestId));
viewer.addEventListener("error", ({ detail }) => (dataset.error = `${detail.code}: ${detail.message}`));
