/**
 * What `npm start` costs: the time until the first request is answered and until all parts are ready, the processor time of each
 * process until then, and what each holds in memory afterwards.
 *
 *   npm run --silent build && node dist/bench/processes/start.js
 *   BENCH_TASKS=0 BENCH_RUNS=3 BENCH_SERVICES=plants,workflow-runs node dist/bench/processes/start.js
 *   BENCH_ROOTS=/path/of/a/checkout,/path/of/another node dist/bench/processes/start.js   (by turns, each of them built)
 *
 * Memory is the proportional set size: pages that several processes have in common count once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../platform/log/log';
import { claimPort } from '../../platform/processes/parts/claim-port';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createBoard } from '../../stores/board-files/board';
import { eachLimited } from '../../stores/board-files/format/each-limited';
import { cpuMsAlone, processesOf } from '../fleet/processes';
import { percentile } from '../latency';
import { openService } from '../service';

const roots = (process.env.BENCH_ROOTS ?? join(__dirname, '..', '..', '..')).split(',');
const tasks = Number(process.env.BENCH_TASKS ?? '5000');
const runs = Number(process.env.BENCH_RUNS ?? '5');
const services = process.env.BENCH_SERVICES ?? '';
/** How long it is left alone before its memory is read, in milliseconds: a process gives back what its start has left within forty seconds. */
const idleMs = Number(process.env.BENCH_IDLE_MS ?? '45000');

const description = 'Some sentences that say what is to be done, and why. '.repeat(10);

type Figures = Record<string, number>;

async function fillBoard(dir: string): Promise<void> {
  const board = await createBoard({ dir, log: createLog({ name: 'bench', level: 'warn' }) });
  const create = async (n: number): Promise<void> => {
    await board.create({ title: `Task ${n}`, description, project: `p${n % 7}` }, { actor: 'service:bench' });
  };
  await eachLimited(16, [...Array(tasks).keys()], create);
  await board.close();
}

/** `services/plants/main.js` is `plants`, and what is no program of the service is named by its file. */
function nameOf(command: readonly string[]): string {
  const script = command.findLast((word) => word.endsWith('.js'));
  if (script === undefined) {
    return basename(command[0] ?? '').replace(/-[\d.]+$/, '');
  }
  return basename(script) === 'main.js' ? basename(dirname(script)) : basename(script, '.js');
}

/** What runs now, by name. */
async function partsOf(service: ChildProcess): Promise<Map<string, number>> {
  const named = processesOf(service.pid ?? 0).map(async (pid) => {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return [nameOf(text.split('\0')), pid] as const;
  });
  return new Map(await Promise.all(named));
}

async function proportionalMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? NaN) / 1024;
}

async function untilAnswered(url: string): Promise<void> {
  for (;;) {
    const answered = await fetch(url).then(
      async (response) => (await response.arrayBuffer(), response.ok),
      () => false,
    );
    if (answered) {
      return;
    }
    await delay(10);
  }
}

/** One start of what is built in a checkout, on a copy of the board. */
async function measureOnCopy(root: string, board: string): Promise<Figures> {
  const temp = await makeTempDir('bench-start');
  try {
    const dataDir = join(temp.path, 'data');
    await cp(board, dataDir, { recursive: true });
    return await measure(root, dataDir);
  } finally {
    await temp.remove();
  }
}

async function measure(root: string, dataDir: string): Promise<Figures> {
  const port = await claimPort(0, 'BOARD_PORT');
  const figures: Figures = {};
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  const service = spawn(process.execPath, [join(root, 'dist/scripts/start.js')], {
    env: {
      ...openService,
      BOARD_DATA_DIR: dataDir,
      BOARD_PORT: String(port),
      SERVICES: services,
      PLANTS_PORT: '0',
      WORKFLOW_RUNS_PORT: '0',
      BITMAP_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const allReady = once(service.stdout, 'data').then(ms);
  try {
    await untilAnswered(`http://127.0.0.1:${port}/api/tasks?limit=1`);
    figures['answered ms'] = ms();
    figures['ready ms'] = await allReady;
    for (const [name, pid] of await partsOf(service)) {
      figures[`${name} CPU ms`] = cpuMsAlone(pid);
    }
    await delay(idleMs);
    for (const [name, pid] of await partsOf(service)) {
      figures[`${name} MB`] = await proportionalMb(pid);
    }
    for (const unit of ['CPU ms', 'MB']) {
      const each = Object.entries(figures).filter(([name]) => name.endsWith(` ${unit}`));
      figures[`all ${unit}`] = each.reduce((sum, [, value]) => sum + value, 0);
    }
    return figures;
  } finally {
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    await exited;
  }
}

function medians(rounds: readonly Figures[]): Figures {
  const names = [...new Set(rounds.flatMap((each) => Object.keys(each)))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      Math.round(
        percentile(
          rounds.map((each) => each[name] ?? NaN),
          0.5,
        ),
      ),
    ]),
  );
}

async function main(): Promise<void> {
  const temp = await makeTempDir('bench-board');
  try {
    await fillBoard(join(temp.path, 'tasks'));
    // The first start on files that are new to it finds out more than any later one.
    await measure(roots[0] ?? '', temp.path);
    const rounds = new Map(roots.map((root) => [root, [] as Figures[]]));
    for (let run = 0; run < runs; run += 1) {
      for (const [root, figures] of rounds) {
        figures.push(await measureOnCopy(root, temp.path));
      }
    }
    console.log(`${tasks} tasks, medians of ${runs} runs, load ${loadavg()[0]?.toFixed(1)}`);
    const columns = [...rounds].map(([root, figures]) => [root, medians(figures)] as const);
    const names = [...new Set(columns.flatMap(([, figures]) => Object.keys(figures)))];
    console.table(
      Object.fromEntries(
        names.map((name) => [name, Object.fromEntries(columns.map(([root, figures]) => [root, figures[name]]))]),
      ),
    );
  } finally {
    await temp.remove();
  }
}

void main();
