import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { runProgram } from '../../../platform/processes/programs/program';
import { createSetupCodeStore } from '../../../stores/identity/sessions/setup-code-store';
import { openDatabase, storeOptions } from '../../../stores/port/open';
import { docsPages, root } from '../../docs/pages';
import { git } from '../../support/git/repository';
import { adminKey, type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';
import { type Block, blocksOf } from './blocks';

const smallService = 'requests of a small service, which this stack does not run';

/** Blocks that are not run, by how their names begin, each with the reason. */
const notRun: Record<string, string> = {
  'README.md: npm ci': 'installs packages, and runs the demo and all tests',
  'README.md: export BOARD_ADMIN_KEY': 'starts the service on the ports of a real one',
  'docs/use/first-day.md: git clone': 'needs a forge in the internet, and a token of it',
  'docs/use/first-day.md: api /github/pr': 'needs a forge in the internet, and a token of it',
  'docs/use/integrations/forges.md': 'needs a forge in the internet, and a token of it',
  'docs/use/integrations/issue-sync.md': 'needs a forge in the internet, and a token of it',
  'docs/use/integrations/pull-requests.md': 'needs a forge in the internet, and a token of it',
  'docs/use/integrations/trackers.md': 'needs a tracker in the internet, and a token of it',
  'docs/use/runs/agents.md: curl http://127.0.0.1:3001/api/config/agent-presets': 'adds an agent that is downloaded',
  'docs/use/runs/agents.md: curl -X POST http://127.0.0.1:3001/api/config/agents/gemini': 'downloads an agent',
  'docs/use/runs/agents.md: curl -X POST http://127.0.0.1:3001/api/agents/$TASK/start': 'needs an agent with a login',
  'docs/use/runs/approvals.md: curl': 'decides a request that an agent has to make first',
  'docs/use/runs/conflicts.md: api': 'resolves a conflict that has to be there first',
  'docs/use/runs/diff.md: api /diff/TASK_ID/comments': 'sends to an agent that resumes its sessions',
  'docs/use/runs/review.md: api /tasks/TASK_ID -X PATCH': 'decides a result that has to wait for a review first',
  'docs/use/runs/review.md: api /tasks/TASK_ID/review/accept': 'needs a forge in the internet, and a token of it',
  'docs/use/runs/worktrees.md: git log': 'shows a commit of a worktree that was removed by force',
  'docs/use/services/': smallService,
};

const blocks = ['README.md', ...docsPages.filter((page) => page.startsWith('docs/use/'))].flatMap(blocksOf);
const reasonFor = ({ name }: Block): string | undefined =>
  Object.entries(notRun).find(([beginning]) => name.startsWith(beginning))?.[1];
const [firstUse] = blocks.filter((block) => block.page === 'README.md' && block.commands.startsWith('api()'));

/** A code as the service writes one to its log at each start. */
async function aSetupCode({ stack: { env } }: SecuredStack): Promise<string> {
  const log = createLog({ name: 'commands', level: 'silent' });
  const database = await openDatabase({ ...storeOptions(env), dataDir: env.BOARD_DATA_DIR, log });
  const code = 'ABCDE-FGHJK-LMNPQ-RSTUV';
  await (await createSetupCodeStore(database)).add(code, 600_000);
  await database.close();
  return code;
}

/** Every response that is not a success fails its block. */
const curlSettings = 'fail-with-body\nsilent\nshow-error\n';

describe('documented commands', () => {
  let board: SecuredStack;
  let home: string;
  /** What the README's first use makes, by the names under which the other pages have it. */
  const ids = new Map<string, string>();

  beforeAll(async () => {
    board = await startSecuredStack();
    home = join(board.stack.dir, 'home');
    ids.set('SETUP_CODE', await aSetupCode(board));
    await mkdir(home);
    await writeFile(join(home, '.curlrc'), curlSettings);
    await symlink(join(root, 'examples'), join(home, 'examples'));
    await writeFile(join(home, 'plan.pdf'), '%PDF-1.4\n%%EOF\n');
    await writeFile(join(home, 'photo.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
  });
  afterAll(() => board.stack.close());

  /** Runs commands as they are written, but for the address, and for ids that stand for others. */
  async function run(commands: string): Promise<string> {
    const address = new URL(board.stack.url).host;
    const script = commands
      .replaceAll(/(?:127\.0\.0\.1|localhost):3001/g, address)
      .replaceAll(/\b(?:(?:TASK|ATTEMPT|TRACE)_ID|SETUP_CODE)\b/g, (name) => ids.get(name) ?? name);
    const key = { BOARD_ADMIN_KEY: adminKey, KEY: adminKey };
    const { exitCode, stdout, stderr } = await runProgram({
      file: 'bash',
      args: ['--norc', '-euo', 'pipefail', '-c', script],
      cwd: home,
      env: { PATH: process.env.PATH ?? '', HOME: home, ...key },
      input: '{}\n',
      timeoutMs: 30_000,
      maxOutputBytes: 10_000_000,
    });
    expect({ exitCode, output: exitCode === 0 ? '' : `${stderr}${stdout}`.slice(-2_000) }).toEqual({
      exitCode: 0,
      output: '',
    });
    return stdout;
  }

  /** The base gets the file that the pages name, and is checked out nowhere, so that it can be merged into. */
  async function prepareTask(task: string): Promise<void> {
    const shop = join(home, 'shop');
    await mkdir(join(shop, 'src'));
    await writeFile(join(shop, 'src', 'a.ts'), 'export {};\n');
    await git(shop, 'add', '.');
    await git(shop, 'commit', '--quiet', '-m', 'Add a file');
    await git(shop, 'checkout', '--quiet', '--detach');
    await board.admin.ok('POST', `/api/tasks/${task}/worktree/rebase`, {});
  }

  it('of the README make a first run', async () => {
    const output = await run(`${firstUse?.commands}\necho "$task $attempt"`);
    const [task = '', attempt = ''] = output.trim().split('\n').at(-1)?.split(' ') ?? [];
    ids.set('TASK_ID', task).set('ATTEMPT_ID', attempt);
    const status = await board.admin.ended(task);
    expect(status.attempt).toMatchObject({ id: attempt, completion: { status: 'success' } });
    const [trace] = await board.admin.ok('GET', `/api/governance/traces?taskId=${task}`);
    ids.set('TRACE_ID', trace.id);
    await prepareTask(task);
  });

  const definitions = firstUse?.commands.split('\n').filter((line) => /^\w+\(\) \{/.test(line)) ?? [];
  const runnable = blocks.filter((block) => block !== firstUse && reasonFor(block) === undefined);
  const together = ['docs/use/first-day.md', 'docs/use/runs/workflows.md'];
  /** The blocks of a page as one script; returns the last line that it prints. */
  const runPage = async (page: string): Promise<string | undefined> => {
    const blocksOfPage = runnable.filter((block) => block.page === page);
    const output = await run([...definitions, ...blocksOfPage.map(({ commands }) => commands)].join('\n'));
    return output.trim().split('\n').at(-1);
  };

  it('of the first day lead from one to the next', async () => {
    expect(await runPage('docs/use/first-day.md')).toBe('done');
  });

  it('of workflows lead a run through its gate to its end', async () => {
    await runPage('docs/use/runs/workflows.md');
    const [newest] = await board.admin.ok('GET', '/api/workflows/runs?limit=1');
    expect(newest).toMatchObject({ workflowId: 'build', status: 'completed' });
  });

  const others = runnable.filter(({ page }) => !together.includes(page));
  it.each(others.map((block) => [block.name, block] as const))('%s', async (_name, { commands }) => {
    const { body } = await board.admin.get(`/api/tasks/${ids.get('TASK_ID')}/worktree`);
    if (body.state === 'ready') {
      await writeFile(join(body.path, 'src', 'a.ts'), `export const random = ${Math.random()};\n`);
    }
    await run([...definitions, commands].join('\n'));
  });

  it('are all listed that are not run', () => {
    const stale = Object.keys(notRun).filter((beginning) => !blocks.some(({ name }) => name.startsWith(beginning)));
    expect(stale).toEqual([]);
    expect(others.length).toBeGreaterThan(12);
  });
});
