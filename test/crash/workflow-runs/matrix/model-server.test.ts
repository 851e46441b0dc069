import { describeKills } from './matrix';

describeKills('model server');
