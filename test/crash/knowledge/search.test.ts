import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { databaseName } from '../../../stores/port/database-name';
import { openSqlite } from '../../../stores/sqlite/database';
import { type EmbeddingModel, embeddingModel } from '../../support/models/embedding-model';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { searchKillPoints } from '../../support/processes/search-kill-points';
import { type Service, soonAgain, startService } from '../../support/stack/service';

const count = 60;
let files: TempDir;
let points: KillPoints;
let model: EmbeddingModel;
let service: Service;
let docs: string;

const nameOf = (n: number) => `page-${n}.md`;
const write = (n: number, words: string) => writeFile(join(docs, nameOf(n)), `# Page\n\n${words} number${n}\n`);
const pages = Array.from({ length: count }, (_, n) => n);

const refresh = () => service.call.ok('POST', '/api/search/index/refresh', {});

async function found(query: string): Promise<string[]> {
  const { results } = await persistently(() => service.call.ok('POST', '/api/search', { query, limit: 100 }));
  return results.map(({ id }: { id: string }) => id).sort();
}

/** What the index itself has, which results are compared with what there is before they are shown. */
async function indexed(word: string): Promise<string[]> {
  const log = createLog({ name: 'test', level: 'silent' });
  const database = await openSqlite({ file: join(service.dataDir, databaseName), log });
  try {
    const index = await database.textIndex('search');
    const matches = await index.match({ terms: [{ word }], needs: 'all', groups: ['docs'], limit: 1_000 });
    return matches.map(({ id }) => id).sort();
  } finally {
    await database.close();
  }
}

describe('kill -9 while the search index is refreshed', () => {
  beforeAll(async () => {
    files = await makeTempDir('search');
    points = await searchKillPoints(join(files.path, 'points'));
    model = await embeddingModel();
    service = await startService({ ...points.environment, ...model.settings }, { restart: soonAgain });
    docs = join(service.dataDir, 'docs');
    await mkdir(docs, { recursive: true });
    await Promise.all(pages.map((n) => write(n, 'original')));
    await refresh();
    expect(await indexed('original')).toHaveLength(count);
  });

  afterAll(async () => {
    await service.close();
    await model.close();
    await files.remove();
  });

  test.each([
    ['before the version of a document is recorded', 'before put'],
    ['after it was', 'after put'],
    ['before a removal is recorded', 'before remove'],
    ['after it was', 'after remove'],
  ])('%s, nothing is lost or stale', async (_when, step) => {
    const word = `word${step.replace(' ', '')}`;
    await points.arm(step, 15);
    const [removed, changed] = [pages.slice(0, 20), pages.slice(20)];
    await Promise.all(removed.map((n) => rm(join(docs, nameOf(n)))));
    await Promise.all(changed.map((n) => write(n, word)));
    await expect(refresh()).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    // Nothing but the start of the API makes it continue.
    await eventually(async () => expect(await indexed(word)).toEqual(changed.map((n) => `docs:${nameOf(n)}`).sort()));
    for (const n of removed) {
      expect(await found(`number${n}`)).not.toContain(nameOf(n));
    }
    await eventually(async () => expect(await indexed(`number${removed[0]!}`)).toEqual([]));
    expect(await found(word)).toEqual(changed.map(nameOf).sort());
    expect((await persistently(refresh)).updated).toBe(true);

    await Promise.all(pages.map((n) => write(n, 'original')));
    expect((await refresh()).updated).toBe(true);
    expect(await indexed(word)).toEqual([]);
    expect(await indexed('original')).toHaveLength(count);
  });

  test.each([
    ['while vectors are stored', 'before putVectors', 30],
    ['before they are published', 'before publish', 1],
    ['after they were', 'after publish', 1],
  ])('%s, the next refresh embeds what is missing and nothing else', async (_when, step, times) => {
    await Promise.all(pages.map((n) => write(n, `kitten${times}`)));
    expect((await persistently(refresh)).updated).toBe(true);
    await points.arm(step, times);
    await expect(service.call.ok('POST', '/api/search/index/refresh', { embed: true })).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    const stored = step === 'before putVectors' ? times - 1 : 50;
    model.texts.splice(0);
    const again = await persistently(() => service.call.ok('POST', '/api/search/index/refresh', { embed: true }));
    expect(again).toMatchObject({ updated: true, embedded: true });
    expect(model.texts).toHaveLength(count - stored);
    const answer = await service.call.ok('POST', '/api/search', { query: 'cat', backend: 'semantic', limit: 100 });
    expect(answer.degraded).toBe(false);
    expect(answer.results).toHaveLength(count);
  });
});
