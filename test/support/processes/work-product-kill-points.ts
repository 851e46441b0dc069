import { type KillPoints, killPoints } from './kill-points';

/** The collections of work products, and the names that steps have for them. */
const collections = { 'work-products': 'record', 'work-product-contents': 'content' };

/**
 * Kills the API at a write of a work product, such as `after record insert` or `after content deleteMany`.
 *
 * @param dir of its own, and no service's
 */
export const workProductKillPoints = (dir: string): Promise<KillPoints> =>
  killPoints(dir, {
    program: /dist\/api\/main\.js$/,
    wrapped: `(() => {
      const names = ${JSON.stringify(collections)};
      const watched = (short, collection) =>
        Object.fromEntries(Object.entries(collection).map(([name, call]) => [name, around(short + ' ' + name, call)]));
      return {
        createWorkProductStore: (create) => (database, ...rest) => {
          const collection = async (spec) => {
            const opened = await database.collection(spec);
            return spec.name in names ? watched(names[spec.name], opened) : opened;
          };
          return create({ ...database, collection }, ...rest);
        },
      };
    })()`,
  });
