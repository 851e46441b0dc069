import { banner, shellWord } from './banner';
import type { RunningService } from './start-all';

const service: RunningService = {
  apiUrl: 'http://127.0.0.1:3001',
  pageUrl: 'http://127.0.0.1:3001/',
  temporalAddress: '127.0.0.1:7233',
  temporalCommand: 'temporal workflow list --address 127.0.0.1:7233 --namespace default',
  serviceUrls: { bitmap: 'http://127.0.0.1:10101' },
  unusedSettings: [{ setting: 'PLANTS_TOKENS', service: 'plants' }],
  dataDir: '/tmp/data',
  pids: () => ({}),
  stop: () => Promise.resolve(),
  ended: Promise.resolve(0),
};

describe('banner of npm start', () => {
  it('names what is up and what is off', () => {
    const lines = banner(service).split('\n');
    expect(lines).toContain('    bitmap         http://127.0.0.1:10101');
    expect(lines).toContain('    Off            plants, workflow-runs (SERVICES=all)');
    expect(lines).toContain('    Page           http://127.0.0.1:3001/');
    expect(banner({ ...service, pageUrl: undefined })).not.toContain('Page');
    expect(lines).toContain('    OpenAPI        http://127.0.0.1:3001/api/openapi.json');
  });

  it('lists the settings that are of no use, because their service is not started', () => {
    expect(banner(service)).toContain('PLANTS_TOKENS is set, but plants is not started: SERVICES=plants');
  });

  it('quotes what a shell would read otherwise', () => {
    expect(['/a/b-1.9', "/it's here", ''].map(shellWord)).toEqual(['/a/b-1.9', `'/it'\\''s here'`, "''"]);
  });
});
