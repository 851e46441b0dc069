import { createLog } from '../../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import {
  type CheckpointStore,
  createCheckpointStore,
  maxCheckpoints,
} from '../../../../services/workflow-runs/runs/checkpoint-store';
import type { Database } from '../../../../stores/port/collection';
import { openDatabase } from '../../../../stores/port/open';

let directory: TempDir;
let database: Database;
let store: CheckpointStore;
beforeAll(async () => {
  directory = await makeTempDir('checkpoints');
  database = await openDatabase({ dataDir: directory.path, log: createLog({ name: 'test', level: 'silent' }) });
  store = await createCheckpointStore(database);
});
afterAll(async () => {
  await database.close();
  await directory.remove();
});

const checkpoint = (id: string, value = '') => ({
  id,
  timestamp: '2026-01-01T00:00:00.000Z',
  current_node: id,
  completed_nodes: [],
  node_retries: {},
  context_values: { value },
  logs: [],
});
const stored = async (run: string, count: number) => {
  const found = await Promise.all(Array.from({ length: count }, (_, at) => store.get(run, `n.${at + 1}`)));
  return found.flatMap((each, at) => (each ? [at + 1] : []));
};

describe('checkpoint store', () => {
  it('has the latest checkpoints of each run', async () => {
    for (let version = 1; version <= 40; version += 1) {
      await store.put('long', { version, isRepeated: false }, [checkpoint(`n.${version}`)]);
    }
    await store.put('short', { version: 1, isRepeated: false }, [checkpoint('n.1')]);
    expect(await stored('long', 40)).toEqual(Array.from({ length: maxCheckpoints }, (_, at) => at + 21));
    expect(await stored('short', 40)).toEqual([1]);
  });

  it('replaces what a workflow task had reported that is repeated, also with another content', async () => {
    await store.put('again', { version: 1, isRepeated: false }, [checkpoint('n.1')]);
    await store.put('again', { version: 2, isRepeated: false }, [checkpoint('n.2', 'first'), checkpoint('n.3')]);
    await store.put('again', { version: 3, isRepeated: false }, [checkpoint('n.4')]);
    await store.put('again', { version: 2, isRepeated: true }, [checkpoint('n.2', 'second')]);
    expect(await stored('again', 5)).toEqual([1, 2]);
    expect((await store.get('again', 'n.2'))?.context_values).toEqual({ value: 'second' });
  });
});
