import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listen } from '../../../platform/http/server/server';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { wordsOf } from '../../../platform/text/words';

/** Words that mean the same are one dimension; other words are of no meaning. */
const meanings = [
  ['cat', 'feline', 'kitten'],
  ['car', 'vehicle', 'automobile'],
  ['money', 'budget', 'cost'],
];

function vectorOf(text: string): number[] {
  const words = wordsOf(text, 10_000);
  return [...meanings.map((same) => words.filter((word) => same.includes(word)).length), 0.1];
}

/** An embedding model that a stand-in on this machine answers for, and the settings that searches find it by. */
export interface EmbeddingModel {
  settings: { BOARD_MODELS: string; BOARD_SEARCH_MODEL: string };
  /** Every text it was sent, and the keys it was sent with. */
  texts: string[];
  keys: (string | undefined)[];
  /** What it answers instead of vectors. */
  fail(answer: { status: number; body: unknown } | undefined): void;
  close(): Promise<void>;
}

/** @param keyName the variable with its key; none when absent */
export async function embeddingModel(keyName?: string): Promise<EmbeddingModel> {
  const directory = await makeTempDir('embedding-model');
  const texts: string[] = [];
  const keys: (string | undefined)[] = [];
  let failure: { status: number; body: unknown } | undefined;
  const server = await listen(
    (request, response) => {
      let sent = '';
      request.setEncoding('utf8');
      request.on('data', (part: string) => (sent += part));
      request.on('end', () => {
        const { input } = JSON.parse(sent) as { input: string[] };
        keys.push(request.headers.authorization);
        texts.push(...input);
        const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
        const { status, body } = failure ?? { status: 200, body: { object: 'list', data, model: 'e' } };
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    },
    { host: '127.0.0.1', port: 0, setting: 'PORT' },
  );
  const path = join(directory.path, 'models.json');
  const model = { id: 'embedder', provider: 'local', family: 'test', display_name: 'Embedder' };
  await writeFile(
    path,
    JSON.stringify({
      providers: [
        { name: 'local', kind: 'openai-compatible', base_url: server.url, ...(keyName && { api_key_env: keyName }) },
      ],
      models: [{ ...model, limits: { context_window: 8_000 }, aliases: ['search'] }],
    }),
  );
  return {
    settings: { BOARD_MODELS: path, BOARD_SEARCH_MODEL: 'search' },
    texts,
    keys,
    fail: (answer) => (failure = answer),
    async close() {
      await server.close();
      await directory.remove();
    },
  };
}
