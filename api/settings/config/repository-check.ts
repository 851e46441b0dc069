import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from '../../../contracts/settings/repository';
import { conflict, validationError } from '../../../platform/errors/app-error';
import type { HostStore } from '../../../stores/runs/hosts/host-store';
import type { SetUpRepository } from '../../../workflows/repository-setup/client';
import type { RepositoryProblem } from '../../../workflows/repository-setup/messages';

interface CheckDependencies {
  hosts: Pick<HostStore, 'live' | 'isKnown'>;
  /** Absent while no host can be reached. */
  setUp: SetUpRepository | undefined;
}

/**
 * Makes sure that a host has the repository, and has it record the repository's settings. Without `hostId` one live host that
 * has it is enough; where none is live, the machine of the API is checked.
 *
 * @throws AppError 400 with the path of the field; 409 `HOST_UNAVAILABLE`; 503 `REPOSITORY_PENDING`
 */
export async function assertUsable({ hosts, setUp }: CheckDependencies, repository: Repository): Promise<void> {
  const { path, remote = null, allowFilters = [], defaultBranch } = repository;
  const asked = await hostsToAsk(hosts, repository.hostId);
  if (setUp === undefined || asked.length === 0) {
    if (!looksLikeRepository(path)) {
      throw refused('path', `there is no git repository at ${path}, and no live host`);
    }
    return;
  }
  const problem = await firstUsable(
    asked.map((id) => setUp({ hostId: id, path, remote, allowFilters, defaultBranch })),
    (answer) => answer === null,
  );
  if (problem) {
    throw refused(problem.field, problem.message);
  }
}

/**
 * The live hosts that may have a repository: the one that it names, or all.
 *
 * @throws AppError 400 for an unknown host; 409 `HOST_UNAVAILABLE` for one that is not live
 */
export async function hostsToAsk(hosts: Pick<HostStore, 'live' | 'isKnown'>, hostId?: string): Promise<string[]> {
  const live = (await hosts.live()).map(({ _id }) => _id);
  if (hostId !== undefined && !(await hosts.isKnown(hostId))) {
    const liveHosts = live.length === 0 ? 'none is live' : `live ones are ${live.join(', ')}`;
    throw refused('hostId', `no worker of the host ${hostId} has ever registered; ${liveHosts}`);
  }
  if (hostId !== undefined && !live.includes(hostId)) {
    const message = `No worker of the host ${hostId} is live, and only its worker can inspect it; start one there.`;
    throw conflict(message, { hostId }, 'HOST_UNAVAILABLE');
  }
  return hostId === undefined ? live : [hostId];
}

const refused = (path: RepositoryProblem['field'] | 'hostId', message: string) => validationError([{ path, message }]);

/**
 * The first response of a host that can use the repository; else the first of those that cannot.
 *
 * @throws the error of a host, where none has responded
 */
export async function firstUsable<T>(answers: readonly Promise<T>[], isUsable: (answer: T) => boolean): Promise<T> {
  const usable = answers.map(async (pending) => {
    const answer = await pending;
    if (!isUsable(answer)) {
      throw new Unusable(answer);
    }
    return answer;
  });
  try {
    return await Promise.any(usable);
  } catch (error) {
    const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error];
    const unusable = reasons.find((reason) => reason instanceof Unusable);
    if (unusable instanceof Unusable) {
      return unusable.answer as T;
    }
    throw reasons[0];
  }
}

class Unusable extends Error {
  constructor(readonly answer: unknown) {
    super('unusable');
  }
}

const looksLikeRepository = (path: string): boolean =>
  existsSync(join(path, '.git')) || ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(path, name)));
