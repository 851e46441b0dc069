import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentOutcome } from '../../../providers/agents/provider';
import { createSandboxHost } from '../../../providers/sandbox/sandbox-host';
import { aPreset } from '../../support/factories/contract';
import { aDispatch, RecordingSink } from '../agents/agent-fixture';
import { aWorktree, sh } from '../git/git-fixture';

/** A worktree with a data directory of the service beside it, and agents that are confined to it. */
export async function aSandbox({ shows = [] }: { shows?: string[] } = {}) {
  const git = await aWorktree();
  const { directory, worktree } = git;
  const dataDir = join(directory.path, 'data');
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'board.sqlite'), 'the board');
  const gitDir = (await sh(worktree, 'rev-parse', '--absolute-git-dir')).trim();
  const home = join(directory.path, 'home');
  await mkdir(home);
  const shownPaths = shows.map((name) => join(directory.path, name));
  const host = createSandboxHost({ protectedPaths: [dataDir], shownPaths });
  const provider = createProcessProvider({ environment: { ...process.env, HOME: home }, sandbox: host });
  return { ...git, dataDir, gitDir, home, host, provider, run, remove: () => directory.remove() };

  /** Runs a shell script under a preset, and returns how it ended and what it printed. */
  async function run(preset: object, script: string, changes: object = {}): Promise<SandboxRun> {
    const sink = new RecordingSink();
    const dispatch = await aDispatch(directory, script, {
      worktreePath: worktree,
      sandbox: { preset: aPreset(preset), gitDir },
      ...changes,
    });
    const outcome = await provider.run(dispatch, sink, new AbortController().signal);
    return { outcome, sink, out: sink.text().join('\n'), err: sink.text('stream.stderr').join('\n') };
  }
}

export interface SandboxRun {
  outcome: AgentOutcome;
  sink: RecordingSink;
  out: string;
  err: string;
}
