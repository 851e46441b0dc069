import type { Stopped, StoppedRebase } from '../../../../contracts/runs/conflict';
import { aClone } from '../git-remote-fixture';

/** `aClone` whose worktree can be brought into conflict with its base. */
export async function aConflict() {
  const fixture = await aClone();
  const { git, diverge } = fixture;
  const recorded = {
    repositoryPath: fixture.repository,
    worktreePath: fixture.worktree,
    branch: 'board/task',
  };
  const stopped = async <T extends Stopped>(): Promise<T> => (await git.conflicts.stopped(recorded)) as T;
  return {
    ...fixture,
    recorded,
    stopped,
    /** Rebases the branch and keeps a conflict. */
    rebase: (ontoSha: string, id = 'op_01') => git.rebaseOnto({ ...recorded, ontoSha, id, keepConflict: true }),
    /** A rebase of two commits that has stopped at the second one. */
    async stop(theirs: Record<string, string> = { 'src/a.txt': 'theirs\n' }) {
      const { headSha, ontoSha } = await diverge(theirs);
      const rebased = await git.rebaseOnto({ ...recorded, ontoSha, id: 'op_01', keepConflict: true });
      return { headSha, ontoSha, rebased };
    },
    async resolve(path: string, resolution: 'ours' | 'theirs' | 'manual', text?: string): Promise<void> {
      const target = await git.conflicts.decide({ ...recorded, path, resolution, hasText: text !== undefined });
      await git.conflicts.resolve({ ...recorded, path, target, text });
    },
    async proceed(id = 'op_02', message?: string) {
      return git.conflicts.continueRebase({ ...recorded, id, stopped: await stopped<StoppedRebase>(), message });
    },
  };
}

export type ConflictFixture = Awaited<ReturnType<typeof aConflict>>;
