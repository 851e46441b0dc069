import { missingArtifacts } from './missing';

const required = ['decision-packet', 'action-items', 'github-issues'] as const;

describe('missing ceremonies', () => {
  it('is what no artifact and no action item brings', () => {
    expect(missingArtifacts([...required], { artifacts: [], actionItems: [] })).toEqual(required);
    expect(missingArtifacts([...required], { artifacts: [], actionItems: [{ title: 'Do it' }] })).toEqual([
      'decision-packet',
      'github-issues',
    ]);
    const artifacts = [{ kind: 'decision-packet', body: 'We do it.' }];
    const actionItems = [{ title: 'Do it', issueUrl: 'https://example.org/1' }];
    expect(missingArtifacts([...required], { artifacts, actionItems })).toEqual([]);
  });
});
