import { testKills } from './matrix';

describe('kill -9 of the temporal in the middle of a stage', () => {
  testKills('temporal');
});
