import { type KillPoints, killPoints } from './kill-points';

/**
 * Kills the API at a write of the search index, such as `before put` or `after remove`.
 *
 * @param dir of its own, and no service's
 */
export const searchKillPoints = (dir: string): Promise<KillPoints> =>
  killPoints(dir, {
    program: /dist\/api\/main\.js$/,
    wrapped: `{
      createSearchVectorStore: (create) => async (...parts) => {
        const { put, publish, ...others } = await create(...parts);
        return { ...others, put: around('putVectors', put), publish: around('publish', publish) };
      },
      createSearchEntryStore: (create) => async (...parts) => {
        const { put, remove, ...others } = await create(...parts);
        return { ...others, put: around('put', put), remove: around('remove', remove) };
      },
    }`,
  });
