import type { Asked } from '../../../support/models/provider';
import { startWithModels, type WithModels } from '../models-under-test';
import { runClient } from '../run-client';

const textOf = (content: string | { text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('');

const repeated = ({ body }: Asked): string[] => [`said: ${textOf(body.messages.at(-1).content)}`];

/** A service for the tests of a file whose models repeat their prompts, with a client of its runs. */
export function repeatingRuns(settings: Record<string, string> = {}) {
  let models: WithModels;
  beforeAll(async () => {
    models = await startWithModels(settings);
  });
  beforeEach(() => models.provider.answers(repeated));
  afterAll(() => models.close());
  return { ...runClient(() => models.service), models: () => models, service: () => models.service };
}
