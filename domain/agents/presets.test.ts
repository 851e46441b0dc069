import { presetStartedBy, readsByItself } from './presets';

describe('the preset that a configured agent starts', () => {
  it.each([
    ['gemini', ['--acp'], 'gemini'],
    ['/opt/bin/gemini', ['--acp'], 'gemini'],
    ['npx', ['-y', '@google/gemini-cli@0.61.0', '--acp'], 'gemini'],
    ['npx', ['-y', '@google/gemini-cli', '--acp'], 'gemini'],
    ['npx', ['-y', '@agentclientprotocol/codex-acp@2.6.0'], 'codex'],
    ['npx', ['-y', '@google/gemini-cli-other@1.0.0'], undefined],
    ['my-agent', ['gemini'], undefined],
  ])('of %s %j is %s', (command, args, id) => {
    expect(presetStartedBy({ command, args })?.id).toBe(id);
    expect(readsByItself({ command, args })).toBe(id === 'gemini');
  });

  it('is none for an agent without a command', () => {
    expect(presetStartedBy({ args: [] })).toBeUndefined();
  });
});
