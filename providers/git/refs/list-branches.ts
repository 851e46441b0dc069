import { isBranchName } from '../../../contracts/common';
import { compact } from '../../../platform/json/compact';
import { resolveCommit } from '../files/trees';
import { type GitRunner, gitText } from '../run-git';
import { remoteNames } from '../settings/entries';

/** A branch of a repository, or of one of its remotes as it was fetched last. */
export interface Branch {
  name: string;
  /** The object that the reference leads to, which is not read. */
  head: string;
  /** Absent: it is the repository's own. */
  remote?: string;
}

export interface Branches {
  branches: Branch[];
  /** How many more there are under names that no task can name as its base. */
  unlisted: number;
}

/** The longest that references are listed, in milliseconds: a caller waits for them. */
const timeoutMs = 15_000;

/** Names as git stores them, as text; `undefined` for bytes that are none. */
function decoded(latin1: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The branch that a reference is; `null` for what is no branch of the repository or of a remote that it has. */
function branchOf(ref: string, remotes: readonly string[]): Pick<Branch, 'name' | 'remote'> | null {
  if (ref.startsWith('refs/heads/')) {
    return { name: ref.slice('refs/heads/'.length) };
  }
  const tracked = ref.slice('refs/remotes/'.length);
  const remote = remotes.find((name) => tracked.startsWith(`${name}/`));
  const name = tracked.slice((remote ?? '').length + 1);
  return remote === undefined || name === 'HEAD' ? null : { name, remote };
}

/**
 * The branches of a repository and, as they were fetched last, those of its remotes. No object is read: a reference that leads to
 * nothing is listed as what it is. @throws GitError
 */
export async function listBranches(git: GitRunner, repositoryPath: string): Promise<Branches> {
  const settings = await git.repositories.effective(repositoryPath);
  // Of two remotes whose names begin alike a reference belongs to the one with the longer name.
  const remotes = remoteNames(settings).sort((a, b) => b.length - a.length);
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/', 'refs/remotes/'];
  const output = await gitText(git, args, { cwd: repositoryPath, encoding: 'latin1', timeoutMs });
  const branches: Branch[] = [];
  let unlisted = 0;
  for (const line of output === '' ? [] : output.split('\n')) {
    const at = line.indexOf(' ');
    const ref = decoded(line.slice(at + 1));
    const branch = ref === undefined ? undefined : branchOf(ref, remotes);
    if (branch === null) {
      continue;
    }
    if (branch && isBranchName(branch.name) && (branch.remote === undefined || isBranchName(branch.remote))) {
      branches.push(compact({ ...branch, head: line.slice(0, at) }));
    } else {
      unlisted += 1;
    }
  }
  return { branches, unlisted };
}

/** Where a repository is: the branch that is checked out, and its commit. Each is absent where there is none. */
export interface RepositoryHead {
  branch?: string;
  commit?: string;
}

/** What HEAD of a repository leads to. @throws GitError */
export async function readHead(git: GitRunner, cwd: string): Promise<RepositoryHead> {
  // 128: HEAD leads to a file that is no reference, or back to itself.
  const { stdout } = await git(['symbolic-ref', '--quiet', 'HEAD'], { cwd, okCodes: [1, 128] });
  const [, branch = ''] = /^refs\/heads\/(.+)\n$/.exec(stdout) ?? [];
  const commit = await resolveCommit(git, cwd, 'HEAD');
  return compact({ branch: isBranchName(branch) ? branch : undefined, commit });
}
