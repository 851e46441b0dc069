import { mkdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { nodePart } from '../../../platform/processes/parts/node-part';
import { eventually } from '../../../platform/testing/eventually';
import { startAll } from '../../../scripts/start-all';
import { testSettings } from '../../support/settings';
import { fill } from './fill';

/**
 * The whole service on a disk that is full when it starts, and full again when its api is started again. Run on a disk of
 * its own, which is the first argument.
 */
const [disk = ''] = process.argv.slice(2);
const filler = join(disk, 'filler');
const dataDir = join(disk, 'data');
const aloneDir = join(disk, 'alone');
const settings = { ...testSettings, PATH: process.env.PATH, HOME: process.env.HOME };

/** Resolves when the directory was checked for space twice, without a start. */
async function lookedTwice(directory: string): Promise<void> {
  const tries = new Set<string>();
  const watcher = watch(directory, (_event, name) => {
    if (name?.startsWith('space-')) {
      tries.add(name);
    }
  });
  try {
    await eventually(() => {
      if (tries.size < 2) {
        throw new Error('It has not looked for space twice.');
      }
    });
  } finally {
    watcher.close();
  }
}

/** Messages that a part has logged. */
const logged = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { msg: string }).msg] : []));

const isLive = async (url: string): Promise<void> => {
  const { status } = await fetch(`${url}/health/live`);
  if (status !== 200) {
    throw new Error(`${status}`);
  }
};

async function main(): Promise<void> {
  for (const directory of [dataDir, aloneDir]) {
    mkdirSync(directory, { mode: 0o700 });
  }
  fill(filler);
  const alone = nodePart({
    name: 'api',
    script: join(__dirname, '..', '..', '..', 'dist', 'api', 'main.js'),
    // Temporal is asked for nothing before there is a run.
    environment: () => ({ ...settings, BOARD_DATA_DIR: aloneDir, BOARD_PORT: '0', TEMPORAL_ADDRESS: '127.0.0.1:1' }),
    output: { file: join(disk, 'alone.log') },
  });
  const api = await alone.start();
  const exited: number[] = [];
  const ended = api.exited.then(({ code }) => exited.push(code ?? -1));
  const starting = startAll({ environment: settings, dataDir, ports: { api: 0 }, quiet: true });
  await Promise.all([lookedTwice(dataDir), lookedTwice(aloneDir)]);
  const waited = exited.length === 0 && !alone.isReady();
  rmSync(filler);
  await eventually(() => {
    if (!alone.isReady()) {
      throw new Error('not ready');
    }
  });
  await api.stop(10_000);
  await ended;
  const service = await starting;
  try {
    await isLive(service.apiUrl);
    const { api: first } = service.pids();
    fill(filler);
    process.kill(first!, 'SIGKILL');
    await eventually(async () => {
      if (service.pids().api === first) {
        throw new Error('not started again');
      }
      await isLive(service.apiUrl);
    });
    const list = await fetch(`${service.apiUrl}/api/tasks`);
    const create = await fetch(`${service.apiUrl}/api/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'On a full disk' }),
    });
    const spaceMessages = [join(dataDir, 'logs', 'supervisor.log'), join(disk, 'alone.log')].map((file) =>
      logged(file).filter((msg) => msg.includes('space')),
    );
    process.stdout.write(
      JSON.stringify({ waited, exited, spaceMessages, startedWhileFull: [list.status, create.status] }),
    );
  } finally {
    rmSync(filler, { force: true });
    await service.stop();
  }
}

void main();
