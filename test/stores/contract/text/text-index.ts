import { wordsOf } from '../../../../platform/text/words';
import { maxTerms, type TextIndex, type TextQuery } from '../../../../stores/port/text/text-index';
import { workspaceDatabase } from '../../../../stores/port/workspace-database';
import { type StoreHarness, uniqueName, useTwoConnections } from '../harness';

const words = (text: string) => wordsOf(text, 1_000);
const entry = (id: string, title: string, body = '', group = 'docs') => ({
  ...{ id, group },
  title: words(title),
  body: words(body),
});

/** Finding documents by their words. */
export function textIndexContract(harness: StoreHarness): void {
  describe('text index', () => {
    const db = useTwoConnections(harness);
    let name: string;
    let index: TextIndex;

    const matching = async (text: string, query: Partial<TextQuery> = {}, of: TextIndex = index) => {
      const terms = words(text).map((word) => ({ word }));
      const found = await of.match({ terms, needs: 'all', groups: ['docs'], limit: 10, ...query });
      return found.map(({ id }) => id);
    };

    beforeEach(async () => {
      name = uniqueName();
      index = await db.one.textIndex(name);
    });

    it('finds what has all words, or any, and what another connection has put', async () => {
      await index.put(entry('a', 'Retry webhooks', 'of the delivery'));
      await index.put(entry('b', 'Retry runs'));
      expect(await matching('retry delivery')).toEqual(['a']);
      expect((await matching('runs delivery', { needs: 'any' })).sort()).toEqual(['a', 'b']);
      expect(await matching('runs delivery')).toEqual([]);
      expect(await matching('RETRY', {}, await db.other.textIndex(name))).toHaveLength(2);
    });

    it('has each document once, as it was put last, until it is removed', async () => {
      await index.put(entry('a', 'first'));
      await index.put(entry('a', 'second'));
      expect(await matching('first')).toEqual([]);
      expect(await matching('second')).toEqual(['a']);
      await (await db.other.textIndex(name)).put(entry('a', 'second', '', 'other'));
      expect(await matching('second')).toEqual([]);
      expect(await matching('second', { groups: ['other'] })).toEqual(['a']);
      await index.remove('a');
      await index.remove('a');
      expect(await matching('second', { groups: ['docs', 'other'] })).toEqual([]);
    });

    it('ranks a title before a text, and a short text before a long one', async () => {
      const long = 'other words in a long text '.repeat(40);
      await index.put(entry('long', 'x', `${long} budget`));
      await index.put(entry('short', 'y', 'a budget'));
      await index.put(entry('title', 'Budget', long));
      for (const id of Array.from({ length: 10 }, (_, n) => `filler-${n}`)) {
        await index.put(entry(id, 'z', long));
      }
      expect((await matching('budget')).at(-1)).toBe('long');
      expect(await matching('budget', { limit: 1 })).toHaveLength(1);
      const scores = (
        await index.match({ terms: [{ word: 'budget' }], needs: 'all', groups: ['docs'], limit: 10 })
      ).map(({ score }) => score);
      expect([...scores].sort((a, b) => b - a)).toEqual(scores);
    });

    it('finds beginnings of words where it is asked to, and words of every script', async () => {
      await index.put(entry('a', 'Deployment of Übergröße', '検索する'));
      expect(await matching('deploy')).toEqual([]);
      const beginning = { terms: [{ word: 'deploy', isPrefix: true }] };
      expect(await matching('', beginning)).toEqual(['a']);
      expect(await matching('ubergroße 検索')).toEqual(['a']);
    });

    it('takes words and nothing else, so that no syntax of its own gets through', async () => {
      await index.put(entry('a', 'title or near and not'));
      expect(await matching('OR NEAR and NOT title:')).toEqual(['a']);
      for (const word of ['"', 'a b', 'a*', '', '.*', 'x'.repeat(65)]) {
        await expect(matching('', { terms: [{ word }] })).rejects.toThrow(TypeError);
      }
      const many = Array.from({ length: maxTerms + 1 }, (_, n) => ({ word: `w${n}` }));
      await expect(matching('', { terms: many })).rejects.toThrow(TypeError);
      await expect(matching('a', { groups: ['docs" OR "x'] })).rejects.toThrow(TypeError);
      expect(await matching('title', { groups: [] })).toEqual([]);
    });

    it("is the workspace's own", async () => {
      const own = await workspaceDatabase(db.one, 'ws-texts').textIndex(name);
      await own.put(entry('secret', 'plans'));
      await index.put(entry('a', 'plans'));
      expect(await matching('plans')).toEqual(['a']);
      expect(await matching('plans', {}, own)).toEqual(['secret']);
    });
  });
}
