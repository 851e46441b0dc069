import { logLevelOf } from './runtime';

describe('a line of the SDK of Temporal', () => {
  it('is a warning where it warns of something', () => {
    expect(logLevelOf({ level: 'WARN', message: 'Activity failed' })).toBe('warn');
    expect(logLevelOf({ level: 'ERROR', message: 'Worker failed' })).toBe('error');
  });

  it('is for debugging where it reports what is as it should be', () => {
    expect(logLevelOf({ level: 'INFO', message: 'Worker state changed' })).toBe('debug');
    const ofEachStart = 'No workflows registered, not polling for workflow tasks';
    expect(logLevelOf({ level: 'WARN', message: ofEachStart })).toBe('debug');
  });
});
