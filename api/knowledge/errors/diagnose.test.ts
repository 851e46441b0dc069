import { diagnose, severityOfRepeat } from './diagnose';

describe('error diagnosis', () => {
  it.each([
    ['JavaScript heap out of memory', 'resource', 'critical'],
    ['ENOSPC: no space left on device', 'resource', 'critical'],
    ['index is corrupt', 'runtime', 'critical'],
    ['HTTP 403 Forbidden', 'permission', 'high'],
    ['429 rate limit reached', 'model', 'medium'],
    ['Request timed out', 'timeout', 'medium'],
    ['CONFLICT (content): merge conflict in a.ts', 'git', 'medium'],
    ['connect ECONNREFUSED 127.0.0.1:80', 'api', 'medium'],
    ["Cannot find module 'x'", 'configuration', 'medium'],
    ['3 tests failed', 'test', 'medium'],
    ['error TS2322: not assignable', 'build', 'medium'],
    ['Validation failed', 'validation', 'low'],
    ['It just stopped', 'unknown', 'low'],
  ])('takes "%s" for %s, %s', (message, errorType, severity) => {
    const diagnosis = diagnose(message);
    expect(diagnosis).toMatchObject({ errorType, severity });
    expect(diagnosis.rootCause === '').toBe(errorType === 'unknown');
  });

  it('believes the caller about the type, and guesses no cause of another', () => {
    expect(diagnose('Request timed out', 'git')).toEqual({
      errorType: 'git',
      severity: 'medium',
      rootCause: '',
      preventionSteps: [],
    });
  });

  it('finds an error more severe that comes again and again', () => {
    expect(severityOfRepeat('low', 2)).toBe('low');
    expect(severityOfRepeat('low', 3)).toBe('medium');
    expect(severityOfRepeat('critical', 9)).toBe('critical');
  });
});
