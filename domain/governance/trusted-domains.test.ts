import { untrustedHost } from './trusted-domains';

const trusted = (trustedDomains: string[], host?: string) =>
  untrustedHost({ agentId: 'bee', trustedDomains }, { host }) === undefined;

describe('trusted domains', () => {
  it.each<[string[], string | undefined, boolean]>([
    [[], 'anywhere.test', true],
    [[], undefined, true],
    [['example.org'], 'example.org', true],
    [['example.org'], 'example.org:8443', true],
    [['Example.org'], 'EXAMPLE.ORG', true],
    [['example.org'], 'api.example.org', false],
    [['example.org'], 'badexample.org', false],
    [['example.org'], 'example.org.bad.test', false],
    [['*.example.org'], 'api.example.org', true],
    [['*.example.org'], 'example.org', false],
    [['*.example.org'], 'badexample.org', false],
    [['example.org', '127.0.0.1'], '127.0.0.1:80', true],
    [['example.org'], '', false],
    [['example.org'], undefined, false],
  ])('%p: %s is trusted: %s', (domains, host, expected) => {
    expect(trusted(domains, host)).toBe(expected);
  });

  it('names the host and the agent', () => {
    expect(untrustedHost({ agentId: 'bee', trustedDomains: ['a.test'] }, { host: 'b.test' })).toBe(
      'b.test is not among the trusted domains of bee.',
    );
  });
});
