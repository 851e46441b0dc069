import fc from 'fast-check';
import { searchLimits } from '../../../contracts/knowledge/search';
import { wordsOf } from '../../../platform/text/words';
import { beginningOf, excerptOf } from './excerpt';

const terms = (query: string) => wordsOf(query, 20).map((word) => ({ word }));
const excerpt = (text: string, query: string, needs: 'all' | 'any' = 'all', heading = '') =>
  excerptOf({ heading, text }, terms(query), needs);

describe('excerpts of documents that match', () => {
  it('are what is around the most matches', () => {
    const text = `a budget here. ${'filler '.repeat(200)} the budget of a\n  tree is spent. ${'more '.repeat(200)}`;
    expect(excerpt(text, 'budget tree')).toMatch(/^….*the budget of a tree is spent\. .*…$/);
    expect(excerpt('short', 'SHORT')).toBe('short');
  });

  it('are the beginning when the heading alone matches', () => {
    expect(excerpt('some text', 'title', 'all', 'The Title')).toBe('some text');
    expect(excerpt('', 'title', 'all', 'The Title')).toBe('');
  });

  it('are none of what does not match', () => {
    expect(excerpt('one', 'one two')).toBeUndefined();
    expect(excerpt('one', 'one two', 'any')).toBe('one');
    expect(excerpt('one', 'three', 'any')).toBeUndefined();
    expect(excerptOf({ heading: '', text: 'deployments' }, [{ word: 'deploy' }], 'all')).toBeUndefined();
    expect(excerptOf({ heading: '', text: 'deployments' }, [{ word: 'deploy', isPrefix: true }], 'all')).toBeDefined();
  });

  it('are of a bounded length, and part of the text, whatever it is', () => {
    const text = fc
      .array(fc.oneof(fc.constant('needle'), fc.string({ unit: 'grapheme', maxLength: 40 })))
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(text, (some) => {
        const flat = some.replace(/\s+/g, ' ').trim();
        for (const shown of [excerpt(some, 'needle') ?? '', beginningOf(some)]) {
          expect(shown.length).toBeLessThanOrEqual(searchLimits.snippet);
          expect(flat).toContain(shown.replace(/^…|…$/g, ''));
        }
      }),
    );
  });
});
