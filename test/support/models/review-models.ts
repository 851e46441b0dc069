import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { aProvider, type Asked, type Provider } from './provider';

const model = (id: string) => ({
  ...{ id, provider: 'local', family: 'test', display_name: id, limits: { context_window: 100_000 } },
  costs: { input_cost_per_mtok: 10, output_cost_per_mtok: 20 },
});

/** Models that a stand-in on this machine answers for, and the setting that reviews find them by. */
export interface ReviewModels {
  provider: Provider;
  settings: { BOARD_MODELS: string };
  close(): Promise<void>;
}

/** A provider of the models `first`, `second` and `third`. */
export async function reviewModels(): Promise<ReviewModels> {
  const provider = await aProvider();
  const directory = await makeTempDir('review-models');
  const path = join(directory.path, 'models.json');
  const providers = [{ name: 'local', kind: 'openai-compatible', base_url: provider.url }];
  await writeFile(path, JSON.stringify({ providers, models: ['first', 'second', 'third'].map(model) }));
  return {
    provider,
    settings: { BOARD_MODELS: path },
    async close() {
      await provider.close();
      await directory.remove();
    },
  };
}

/** What a model was asked for: its participant, the kind of answer and the round. */
export function askedFor({ body }: Asked): string {
  const system = body.messages.find(({ role }: { role: string }) => role === 'system').content as string;
  const [, participant = 'synthesis'] = /\(`([\w-]+)`\)/.exec(system) ?? [];
  const [, round = ''] = /round (\d)/.exec(system) ?? [];
  const kind = system.includes('Criticise') ? 'critique' : 'response';
  return participant === 'synthesis' ? participant : `${participant} ${kind} ${round}`;
}
