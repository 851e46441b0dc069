import type { Document } from 'mongodb';
import type { Collection } from '../../../stores/port/collection';
import { InvalidOperationError } from '../../../stores/port/errors';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

interface Use {
  _id: string;
  run: string;
  model: string;
  tokens: number;
  tags: string[];
}

/** The pipelines that both adapters evaluate alike. */
export function aggregationContract(harness: StoreHarness): void {
  describe('aggregation', () => {
    const db = useTwoConnections(harness);
    let uses: Collection<Use>;
    beforeAll(async () => {
      uses = await db.one.collection<Use>({ name: uniqueName(), indexes: [{ keys: { run: 1 } }] });
      for (let at = 0; at < 12; at += 1) {
        const model = at % 3 === 0 ? 'large' : 'small';
        await uses.insert({ _id: `u${at}`, run: at < 10 ? 'r1' : 'r2', model, tokens: at, tags: ['t', `t${at % 2}`] });
      }
    });

    it.each<[string, Document[], Document[]]>([
      [
        'sums and averages by group',
        [
          { $match: { run: 'r1' } },
          { $group: { _id: '$model', tokens: { $sum: '$tokens' }, uses: { $sum: 1 }, most: { $max: '$tokens' } } },
          { $sort: { _id: 1 } },
        ],
        [
          { _id: 'large', tokens: 18, uses: 4, most: 9 },
          { _id: 'small', tokens: 27, uses: 6, most: 8 },
        ],
      ],
      ['counts', [{ $match: { run: 'r1', tokens: { $gt: 3 } } }, { $count: 'many' }], [{ many: 6 }]],
      [
        'sorts, limits and projects',
        [
          { $match: { run: 'r1' } },
          { $sort: { tokens: -1 } },
          { $limit: 2 },
          { $project: { _id: 0, tokens: 1, kind: '$model' } },
        ],
        [
          { tokens: 9, kind: 'large' },
          { tokens: 8, kind: 'small' },
        ],
      ],
      [
        'unwinds lists',
        [
          { $match: { run: 'r1' } },
          { $unwind: '$tags' },
          { $group: { _id: '$tags', uses: { $sum: 1 }, mean: { $avg: '$tokens' } } },
          { $sort: { uses: -1, _id: 1 } },
        ],
        [
          { _id: 't', uses: 10, mean: 4.5 },
          { _id: 't0', uses: 5, mean: 4 },
          { _id: 't1', uses: 5, mean: 5 },
        ],
      ],
      ['answers nothing for nothing', [{ $match: { run: 'none' } }, { $count: 'many' }], []],
    ])('%s', async (_, pipeline, expected) => {
      expect(await uses.aggregate(pipeline)).toEqual(expected);
    });

    it.each<[string, Document[]]>([
      ['nothing', []],
      ['no $match in front', [{ $group: { _id: null } }]],
      ['another collection', [{ $match: { run: 'r1' } }, { $lookup: { from: 'x' } }]],
      ['a write', [{ $match: { run: 'r1' } }, { $out: 'x' }]],
      ['two stages in one', [{ $match: { run: 'r1' }, $limit: 1 }]],
    ])('refuses %s', async (_, pipeline) => {
      await expect(uses.aggregate(pipeline)).rejects.toThrow(InvalidOperationError);
    });
  });
}
