import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { aProvider, type Provider } from '../../support/models/provider';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';

export const keyVariable = 'TEST_MODEL_KEY';
export const key = 'key-of-the-tests-0123456789';

/** A catalog with one model for each protocol, reached at the stand-in. */
export const catalogOf = (url: string) => ({
  providers: [
    { name: 'local', kind: 'openai-compatible', base_url: url, api_key_env: keyVariable },
    { name: 'anthropic', kind: 'anthropic', base_url: url, api_key_env: keyVariable },
    { name: 'keyless', kind: 'openai-compatible', base_url: url, api_key_env: 'TEST_NO_SUCH_KEY' },
    { name: 'nowhere', kind: 'openai-compatible', base_url: 'http://127.0.0.1:2/v1' },
  ],
  models: [
    {
      id: 'small',
      provider: 'local',
      family: 'test',
      display_name: 'Small',
      limits: { context_window: 100_000 },
      features: { tools: true, vision: true },
      costs: { input_cost_per_mtok: 10, output_cost_per_mtok: 20, cache_input_cost_per_mtok: 1 },
      aliases: ['quick'],
    },
    {
      id: 'org/claude',
      upstream_id: 'claude-sonnet-4-5',
      provider: 'anthropic',
      family: 'test',
      display_name: 'Claude',
      limits: { context_window: 100_000, max_output: 1_234 },
      features: { tools: true, vision: true, reasoning: true },
    },
    {
      id: 'tiny',
      provider: 'local',
      family: 'test',
      display_name: 'Tiny',
      limits: { context_window: 1_000 },
    },
    ...['keyless', 'nowhere'].map((provider) => ({
      id: provider,
      provider,
      family: 'test',
      display_name: provider,
      limits: { context_window: 1_000 },
    })),
  ],
});

/** A stand-in for providers of models, and the settings that a service finds it by. */
export async function aProviderWithCatalog() {
  process.env[keyVariable] = key;
  const provider = await aProvider();
  const directory = await makeTempDir('catalog');
  const path = join(directory.path, 'models.json');
  await writeFile(path, JSON.stringify(catalogOf(provider.url)));
  return {
    provider,
    settings: { WORKFLOW_RUNS_MODELS: path },
    async close() {
      await provider.close();
      await directory.remove();
    },
  };
}

export interface WithModels {
  service: WorkflowRunsUnderTest;
  provider: Provider;
  close(): Promise<void>;
}

/** The service with models that a stand-in on this machine simulates. */
export async function startWithModels(settings: Record<string, string> = {}): Promise<WithModels> {
  const reached = await aProviderWithCatalog();
  const service = await startServiceUnderTest({ ...reached.settings, ...settings });
  return {
    service,
    provider: reached.provider,
    async close() {
      await service.close();
      await reached.close();
    },
  };
}
