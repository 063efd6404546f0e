/** What is said in the viewer's sample (scripts/sample.js). */

/**
 * `tool`: the tool that the answer calls; `result`: what it gave back. `rewrite`: a word of the answer that the next prompt has in
 * other tokens, and the texts of these.
 *
 * @typedef {{ text: string, tool?: string, result?: string, rewrite?: [string, string[]] }} SampleTurn
 */
/** @typedef {{ reward: number, turns: SampleTurn[] }} SampleRollout */
/** @typedef {{ system: string, question: string, rollouts: SampleRollout[] }} Sample */

export const STEP = 12;

const SYSTEM = "You are a careful assistant. You may call a tool: <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>";
const call = (/** @type {string} */ name, /** @type {object} */ given) => `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;

const FORECAST = '{"morning": "rain", "noon": "cloudy", "evening": "clear", "high": 17, "low": 9}';
const TRAINS = '[{"from": "Osaka", "leaves": "17:02", "arrives": "17:31"}, {"from": "Osaka", "leaves": "17:32", "arrives": "18:01"}]';
const askForecast = `<think>\nThe user wants an evening without rain. First the forecast.\n</think>\n\n${call("weather", { city: "Kyoto", day: "tomorrow" })}`;
const askTrains = `<think>\nThe evening is clear, so the walk can be after six. Which trains arrive before that?\n</think>\n\n${call("trains", { from: "Osaka", to: "Kyoto", before: "18:05" })}`;
const plan = "Tomorrow evening is clear in Kyoto, about 12 °C. Take the train at **17:32** from Osaka: you arrive at 18:01 and can walk along the river at sunset. ☂ stays at home.";

/** @type {Sample[]} */
export const SAMPLES = [
  {
    system: SYSTEM,
    question: "I am in Osaka. When should I take the train tomorrow to walk in Kyoto without rain?",
    rollouts: [
      {
        reward: 1,
        turns: [
          { text: askForecast, tool: "weather", result: FORECAST },
          { text: askTrains, tool: "trains", result: TRAINS },
          { text: plan },
        ],
      },
      {
        reward: 1,
        turns: [
          { text: askForecast, tool: "weather", result: FORECAST },
          // The prompt of the third turn has one word of this answer in other tokens.
          { text: askTrains, tool: "trains", result: TRAINS, rewrite: [" evening", [" even", "ing"]] },
          { text: plan.replace("Tomorrow evening", "The evening of tomorrow") },
        ],
      },
      {
        reward: 0,
        turns: [{ text: "It usually does not rain in Kyoto in autumn, so any train will do. Take the one at 9:00." }],
      },
      {
        reward: 0.25,
        turns: [
          { text: askForecast, tool: "weather", result: FORECAST },
          { text: `The morning has rain. ${"Let me check the forecast again. ".repeat(14)}`.trim() },
        ],
      },
    ],
  },
  {
    system: SYSTEM,
    question: "The bill is $48.50. What is a tip of 18 percent, rounded up to a quarter?",
    rollouts: [
      {
        reward: 1,
        turns: [
          { text: call("calculator", { expression: "48.50 * 0.18" }), tool: "calculator", result: "8.73" },
          { text: "18 percent of $48.50 is $8.73; rounded up to a quarter that is **$8.75**." },
        ],
      },
      { reward: 1, turns: [{ text: "<think>\n10 % is 4.85, 8 % is 3.88, together 8.73.\n</think>\n\nThe tip is **$8.75**." }] },
      { reward: 0, turns: [{ text: "18 percent of $48.50 is $8.37, so the tip is **$8.50**." }] },
      {
        reward: 0,
        turns: [
          { text: call("calculator", { expression: "48.50 * 18" }), tool: "calculator", result: "873.0" },
          { text: "The tip is $873.00. That is more than the bill, so I would ask for the calculation once more." },
        ],
      },
    ],
  },
  {
    system: "You translate. Answer with the translations alone, one a line.",
    question: "\"Good morning, where is the library?\" in German, Japanese, Arabic and Hindi.",
    rollouts: [
      { reward: 1, turns: [{ text: "Guten Morgen, wo ist die Bibliothek?\nおはようございます。図書館はどこですか。\nصباح الخير، أين المكتبة؟\nसुप्रभात, पुस्तकालय कहाँ है?" }] },
      { reward: 0.5, turns: [{ text: "Guten Morgen, wo ist die Bücherei?\nおはよう、図書館はどこ？\nصباح الخير، أين المكتبة؟" }] },
      { reward: 0.75, turns: [{ text: "🇩🇪 Guten Morgen, wo ist die Bibliothek?\n🇯🇵 おはようございます。図書館はどこにありますか。\n🇸🇦 صباح الخير، أين تقع المكتبة؟\n🇮🇳 सुप्रभात, पुस्तकालय कहाँ है?" }] },
      { reward: 0, turns: [{ text: "Good morning, where is the library?" }] },
    ],
  },
];
