import { readFileSync } from 'node:fs';
import { environment } from '../../platform/config/env';
import { settingGroups } from '../../platform/config/settings/groups';
import { configurationPage, describeConfiguration } from '../../scripts/list-configuration';

describe('the page on configuration', () => {
  it('is what the schema of the environment reports; if not, run npm run docs:configuration', () => {
    expect(readFileSync(configurationPage, 'utf8')).toBe(describeConfiguration());
  });

  it('has every setting in exactly one group, with a description', () => {
    const grouped = Object.values(settingGroups).flatMap((settings) => Object.keys(settings));
    expect(grouped.sort()).toEqual(Object.keys(environment.shape).sort());
    const silent = Object.entries(environment.shape).filter(([, { description }]) => !description);
    expect(silent.map(([name]) => name)).toEqual([]);
  });
});
