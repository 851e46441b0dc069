import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { gitBreakpoints, type GitBreakpoints } from '../support/git-breakpoints';
import { aRepository } from '../support/repository';
import { startService, type Service } from '../support/service';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched } from './runs';

const runs = 20;

interface Stage {
  name: string;
  /** The git that runs stand at while they are in this stage. */
  git?: string;
  /** Or what their agents have written to the witness by then. */
  line?: string;
}

const stages: Stage[] = [
  { name: 'compiling', git: 'update-ref refs/board/baselines/' },
  { name: 'dispatching', line: 'start ' },
  { name: 'completing', git: 'diff-tree' },
];

let files: TempDir;
let witness: string;
let breakpoints: GitBreakpoints;
let service: Service;

beforeEach(async () => {
  files = await makeTempDir('stages');
  witness = join(files.path, 'witness');
  writeFileSync(witness, '');
  breakpoints = await gitBreakpoints(files.path);
  service = await startService({ WITNESS: witness, PATH: breakpoints.path, BOARD_RUN_RETRIES: '2' });
  await service.call.addRepository('sample', await aRepository(files.path));
  await service.call.configureAgents([{ ...scriptAgent('witnessed-bee', '5', '100'), environmentKeys: ['WITNESS'] }]);
}, 60_000);

afterEach(async () => {
  await breakpoints.clear();
  await service.close();
  await files.remove();
});

const starts = () =>
  readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('start '));

/** Kills what an agent of the latest started attempts is, if one still runs. */
async function killAnAgent(): Promise<void> {
  for (const line of starts().slice(-5)) {
    const [agent] = await findByEnvironment('BOARD_ATTEMPT_ID', line.split(' ')[1] ?? '');
    if (agent) return void process.kill(agent.pid, 'SIGKILL');
  }
}

test.each(stages)(
  'worker, api and an agent killed while $name: every run ends once',
  async ({ name, git, line }) => {
    if (git !== undefined) await breakpoints.set(name, 'before', `*${git}*`);
    const launched: Launched[] = [];
    const launching = launchAll(service, runs, launched);
    if (git !== undefined) await breakpoints.reached(name);
    else
      await eventually(() => expect(starts().some((each) => each.startsWith(line ?? ''))).toBe(true), {
        withinMs: 60_000,
      });
    const { worker, api } = service.pids();
    await killAnAgent();
    process.kill(worker!, 'SIGKILL');
    process.kill(api!, 'SIGKILL');
    await breakpoints.clear();
    await launching;
    await allEnded(service, launched);
    expect(launched).toHaveLength(runs);
    await expectNothingLostOrDoubled(service, witness, launched);
  },
  240_000,
);
