import type { SearchResult } from '../../../contracts/knowledge/search';
import { fuse } from './fuse';

const result = (id: string, snippet = ''): SearchResult => ({
  ...{ id, title: id, path: id, snippet },
  collection: 'docs',
  score: 0.5,
});

describe('lists of results as one', () => {
  it('rank what several have first, and scores are between 0 and 1', () => {
    const fused = fuse(
      [
        [result('a', 'words'), result('b')],
        [result('c'), result('a', 'meaning')],
      ],
      10,
    );
    expect(fused.map(({ id }) => id)).toEqual(['a', 'c', 'b']);
    expect(fused[0]?.snippet).toBe('words');
    expect(fuse([[result('a')], [result('a')]], 1)).toMatchObject([{ score: 1 }]);
    expect(fuse([[result('a')], []], 1)).toMatchObject([{ score: 0.5 }]);
    expect(fuse([[], []], 5)).toEqual([]);
  });
});
