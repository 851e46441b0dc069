import type { PromptModel } from './prompt-model';

/** Answers without asking anybody: what a graph does can be tried with it. */
export const dryModel: PromptModel = ({ prompt, model = 'dry-run' }) =>
  Promise.resolve({
    text: `[dry run] ${prompt.slice(0, 200)}`,
    model,
    usage: { input_tokens: 0, output_tokens: 0, cost: 0 },
  });
