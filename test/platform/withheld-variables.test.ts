import { withheldBecause } from '../../contracts/settings/withheld-variables';
import { environment } from '../../platform/config/env';

describe('variables that no agent is given', () => {
  it.each(Object.keys(environment.shape))('has the setting %s, and the name of its file', (name) => {
    expect(withheldBecause(name)).toBe('is a setting of the service');
    if (!/^(?:LOG_LEVEL|NODE_ENV)$/.test(name)) {
      expect(withheldBecause(`${name}_FILE`)).toBeDefined();
    }
  });

  it.each([
    ...[
      'NODE_OPTIONS',
      'LD_PRELOAD',
      'LD_LIBRARY_PATH',
      'DYLD_INSERT_LIBRARIES',
      'BASH_ENV',
      'PYTHONSTARTUP',
      'PERL5OPT',
    ],
    ...['GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'GIT_DIR', 'GIT_EXEC_PATH', 'GIT_AUTHOR_DATE'],
  ])('has %s', (name) => {
    expect(withheldBecause(name)).toMatch(/^changes/);
  });

  it.each([
    'ANTHROPIC_API_KEY',
    'HTTPS_PROXY',
    'NODE_EXTRA_CA_CERTS',
    'GIT_AUTHOR_NAME',
    'GIT_COMMITTER_EMAIL',
    'GITHUB_TOKEN',
  ])('does not have %s', (name) => {
    expect(withheldBecause(name)).toBeUndefined();
  });
});
