import type { Remedy } from './remedy';

/** Refusals of operations on the forge of a repository. */
export const forgeRemedies: Record<string, Remedy> = {
  FORGE_NOT_CONFIGURED: [
    {
      call: 'PATCH /api/config/repos/:name',
      remedy: 'Set the forge of the repository: kind, repository and credential.',
      ids: { name: ['repo'] },
    },
    { call: 'GET /api/config/repos', remedy: 'Read which repositories have a forge.' },
  ],
  FORGE_CREDENTIAL_MISSING: [
    { call: 'GET /api/github/status', remedy: 'Set the variable in details.variable on the host, and check again.' },
  ],
  FORGE_REFUSED_ADDRESS: [
    {
      call: 'PATCH /api/config/repos/:name',
      remedy: 'Set an https address as baseUrl of the forge.',
      ids: { name: ['repo'] },
    },
    { call: 'GET /api/config/repos', remedy: 'Read the address of the forge.' },
  ],
};
