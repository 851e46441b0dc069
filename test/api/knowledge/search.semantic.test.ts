import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { type EmbeddingModel, embeddingModel } from '../../support/models/embedding-model';
import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';

let model: EmbeddingModel;
let board: ApiUnderTest;
let feline: string;
let vehicle: string;

const search = (body: object, key?: string) =>
  board.call('POST', '/api/search', { body, ...(key === undefined ? {} : { key }) });
const refresh = (embed = true) => board.call('POST', '/api/search/index/refresh', { body: { embed } });
const idsOf = ({ body }: { body: { results: { id: string }[] } }) => body.results.map(({ id }) => id);

beforeAll(async () => {
  process.env.SEARCH_EMBEDDING_KEY = 'key-of-the-embedding-model-0123456789';
  model = await embeddingModel('SEARCH_EMBEDDING_KEY');
  board = await startTestApi(model.settings);
  await mkdir(join(board.dataDir, 'docs'));
  feline = (await board.createTask({ title: 'Feed the feline', description: 'Twice a day' })).id;
  vehicle = (await board.createTask({ title: 'Repair the vehicle' })).id;
});
afterAll(async () => {
  await board.close();
  await model.close();
  delete process.env.SEARCH_EMBEDDING_KEY;
});

describe('semantic search', () => {
  it('compares nothing before texts are embedded, and is degraded', async () => {
    const { status, body } = await search({ query: 'cat', backend: 'semantic' });
    expect({ status, body }).toMatchObject({ status: 200, body: { backend: 'semantic', degraded: true, results: [] } });
  });

  it('finds what means the same once texts are embedded', async () => {
    const { status, body } = await refresh();
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { backend: 'semantic', updated: true, embedded: true, commands: ['update', 'embed'] },
    });
    expect(model.keys).toContain('Bearer key-of-the-embedding-model-0123456789');
    const answer = await search({ query: 'kitten', backend: 'semantic' });
    expect(answer.body).toMatchObject({ backend: 'semantic', degraded: false });
    expect(idsOf(answer)).toEqual([feline, vehicle]);
    const [first, second] = answer.body.results;
    expect(first).toMatchObject({ title: 'Feed the feline', collection: 'tasks-active' });
    expect(first.snippet).toContain('Twice a day');
    expect(first.score).toBeGreaterThan(second.score);
    expect(idsOf(await search({ query: 'automobile', backend: 'semantic', limit: 1 }))).toEqual([vehicle]);
  });

  it('is joined with keyword search by auto, which is the default', async () => {
    const answer = await search({ query: 'feline automobile' });
    expect(answer.body).toMatchObject({ backend: 'auto', degraded: false });
    expect(idsOf(answer)[0]).toBe(feline);
    expect(idsOf(answer)).toContain(vehicle);
    expect((await search({ query: 'kitten', backend: 'keyword' })).body).toMatchObject({
      backend: 'keyword',
      results: [],
    });
  });

  it('embeds what has changed, and nothing else', async () => {
    model.texts.splice(0);
    await board.call('PATCH', `/api/tasks/${vehicle}`, { body: { title: 'Plan the money' } });
    const stale = await search({ query: 'car', backend: 'semantic' });
    expect(stale.body.degraded).toBe(true);
    expect(idsOf(stale)).toEqual([feline]);
    model.texts.splice(0);
    expect((await refresh()).body.embedded).toBe(true);
    expect(model.texts).toEqual([expect.stringContaining('Plan the money')]);
    expect(idsOf(await search({ query: 'budget', backend: 'semantic', limit: 1 }))).toEqual([vehicle]);
    model.texts.splice(0);
    await refresh();
    expect(model.texts).toEqual([]);
  });

  it('shows an agent no documents, and no one what was deleted', async () => {
    await writeFile(join(board.dataDir, 'docs', 'cats.md'), 'one kitten');
    await eventually(async () => expect(idsOf(await search({ query: 'kitten', backend: 'keyword' }))).toHaveLength(1));
    await refresh();
    expect(idsOf(await search({ query: 'cat', backend: 'semantic', limit: 1 }))).toEqual(['cats.md']);
    expect(idsOf(await search({ query: 'cat', backend: 'semantic' }, agentKey))).not.toContain('cats.md');
    const { id } = await board.createTask({ title: 'kitten kitten' });
    await refresh();
    expect(idsOf(await search({ query: 'cat', backend: 'semantic' }))).toContain(id);
    await board.call('DELETE', `/api/tasks/${id}`);
    expect(idsOf(await search({ query: 'cat', backend: 'semantic' }))).not.toContain(id);
  });

  it('is refused, and auto falls back on keywords as degraded, while the model does not answer', async () => {
    const key = 'key-of-the-embedding-model-0123456789';
    model.fail({ status: 500, body: { error: { message: `bad day for ${key}` } } });
    try {
      const refused = await search({ query: 'feline', backend: 'semantic' });
      expect(refused).toMatchObject({ status: 503, body: { code: 'SEARCH_MODEL_UNAVAILABLE' } });
      expect(JSON.stringify(refused.body)).not.toContain(key);
      const answer = await search({ query: 'feline' });
      expect(answer.body).toMatchObject({ backend: 'keyword', degraded: true, results: [{ id: feline }] });
      await board.createTask({ title: 'One more' });
      expect(await refresh()).toMatchObject({ status: 503, body: { code: 'SEARCH_MODEL_UNAVAILABLE' } });
      model.fail({ status: 200, body: { object: 'list', data: [{ embedding: [1], index: 0 }], model: 'e' } });
      expect((await search({ query: 'feline', backend: 'semantic' })).body.degraded).toBe(true);
    } finally {
      model.fail(undefined);
    }
    expect((await refresh()).body.embedded).toBe(true);
  });

  it('offers its model to no review', async () => {
    expect([...board.api.context.modelNames!]).toEqual([]);
  });
});

describe('the embedding model', () => {
  it.each([
    ['is in no catalog', (settings: object) => ({ ...settings, BOARD_SEARCH_MODEL: 'other' })],
    ['has no catalog', () => ({ BOARD_SEARCH_MODEL: 'other' })],
  ])('that %s is refused at start', async (_what, settings) => {
    await expect(startTestApi(settings(model.settings))).rejects.toThrow(/other/);
  });

  it('has a key that the API may read, or is refused at start', async () => {
    const other = await embeddingModel('OPENAI_API_KEY');
    await expect(startTestApi(other.settings)).rejects.toThrow(/EMBEDDING_API_KEY/);
    await other.close();
  });
});
