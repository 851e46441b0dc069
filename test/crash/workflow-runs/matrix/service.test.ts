import { testKills } from './matrix';

describe('kill -9 of the service in the middle of a stage', () => {
  testKills('workflow-runs');
});
