import type { ForgeConnection } from '../../contracts/integrations/forge';
import type { Refusal } from '../../contracts/refusal';
import type { Repository } from '../../contracts/settings/repository';
import { apiUrlOf } from '../../domain/forges/forge-address';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import type { Forge } from '../../providers/forges/forge';
import { openForge } from '../../providers/forges/open-forge';
import type { RepositoryStore } from '../../stores/settings/repository-store';

export interface RepositoryForgesDependencies {
  repositories: Pick<RepositoryStore, 'find'>;
  /** Of this worker: credentials are read from it, and are stored nowhere. */
  environment: NodeJS.ProcessEnv;
  /** Whether forges may be on private networks, and without TLS. */
  allowPrivate: boolean;
  hostId: string;
}

/** The forge of a configured repository, with the credential that this worker has for it. */
export interface RepositoryForge {
  repository: Repository;
  connection: ForgeConnection;
  forge: Forge;
  /** For git, which the forge's client does not start. */
  token: string;
}

/** Opens the forges of configured repositories on the worker that calls them. */
export function createRepositoryForges({
  repositories,
  environment,
  allowPrivate,
  hostId,
}: RepositoryForgesDependencies) {
  /** The value of `env:NAME`; `undefined` where this worker's environment has none that a header could carry. */
  const secret = (reference: string): string | undefined => {
    const value = environment[reference.replace(/^env:/, '')]?.trim();
    return value !== undefined && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
  };

  return {
    secret,
    allowPrivate,
    hostId,

    /** Refused when there is no such repository, it has no forge, or this worker has no credential for it. */
    async open(repo: string, options: { timeoutMs?: number } = {}): Promise<RepositoryForge | Refusal> {
      const repository = await repositories.find(repo);
      const connection = repository?.forge;
      if (!repository || !connection) {
        const remediation = `Set forge with PATCH /api/config/repos/${repo}.`;
        const message = `The repository ${repo} has no forge configured.`;
        return refusal('FORGE_NOT_CONFIGURED', message, { repo, remediation });
      }
      const { kind, credential } = connection;
      const baseUrl = apiUrlOf(connection);
      const token = secret(credential);
      if (token === undefined) {
        const variable = credential.replace(/^env:/, '');
        const message = `The worker on the host ${hostId} has no usable value of ${variable}, the credential of ${repo}.`;
        const remediation = `Start the worker with ${variable} in its environment.`;
        return refusal('FORGE_CREDENTIAL_MISSING', message, { repo, hostId, variable, remediation });
      }
      if (!allowPrivate && !baseUrl.startsWith('https:')) {
        const message = `The forge of ${repo} has an address without TLS, which BOARD_FORGE_ALLOW_PRIVATE has to allow.`;
        return refusal('FORGE_REFUSED_ADDRESS', message, { repo, baseUrl });
      }
      const forge = openForge({
        kind,
        baseUrl,
        repository: connection.repository,
        token,
        allowPrivate,
        ...compact(options),
      });
      return { repository, connection, forge, token };
    },
  };
}

export type RepositoryForges = ReturnType<typeof createRepositoryForges>;
