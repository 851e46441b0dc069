import { conflictMarkers } from './markers';

describe('conflict markers', () => {
  it('are found with their lines and labels', () => {
    const text = ['a', '<<<<<<< HEAD', 'ours', '=======', 'theirs', '>>>>>>> 1a2b (Two)', 'b', ''].join('\n');
    expect(conflictMarkers(text)).toEqual([
      { startLine: 2, separatorLine: 4, endLine: 6, oursLabel: 'HEAD', theirsLabel: '1a2b (Two)' },
    ]);
  });

  it('may have the base between them, and other line ends', () => {
    const text = ['<<<<<<< HEAD', 'o', '||||||| parent', 'b', '=======', 't', '>>>>>>> Two', ''].join('\r\n');
    expect(conflictMarkers(text)).toEqual([
      { startLine: 1, baseLine: 3, separatorLine: 5, endLine: 7, oursLabel: 'HEAD', theirsLabel: 'Two' },
    ]);
  });

  it.each([
    ['a heading', 'Title\n=======\ntext\n'],
    ['one without an end', '<<<<<<< HEAD\nours\n=======\n'],
    ['one without a middle', '<<<<<<< HEAD\n>>>>>>> Two\n'],
    ['a shift', '  <<<<<<< 1\n=======\n  >>>>>>> 2\n'],
    ['nothing', ''],
  ])('are not seen in %s', (_, text) => {
    expect(conflictMarkers(text)).toEqual([]);
  });

  it('are those of the last beginning, when an end is missing', () => {
    const text = '<<<<<<< one\n<<<<<<< two\n=======\n>>>>>>> end\n';
    expect(conflictMarkers(text)).toMatchObject([{ startLine: 2, oursLabel: 'two' }]);
  });
});
