/** Lists of ids, and what Python's `tokenizers` decodes of them with Qwen3's file, special tokens kept. */

export const PROMPT = { ids: [151644, 872, 198, 115806, 15767, 35727, 94121, 15322, 11319, 151645, 198], text: "<|im_start|>user\n京都の天気は？<|im_end|>\n" };
export const ANSWER = { ids: [6464, 2391, 23455, 9421, 22878, 55661, 983, 25125, 222, 30543, 151645], text: "Grüße aus Kyōto ☀️<|im_end|>" };
