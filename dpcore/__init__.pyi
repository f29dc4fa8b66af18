# The types of the public names, which __init__.py loads when they are first used.
from dpcore.facade import advantage as advantage
from dpcore.facade import beta as beta
from dpcore.facade import calibrate_batch as calibrate_batch
from dpcore.facade import calibrate_sigma as calibrate_sigma
from dpcore.facade import calibrate_steps as calibrate_steps
from dpcore.facade import delta as delta
from dpcore.facade import epsilon as epsilon
from dpcore.facade import judge as judge
from dpcore.facade import tradeoff as tradeoff
from dpcore.facade import train as train
from dpcore.privacy.accountants import ACCOUNTANTS as ACCOUNTANTS
from dpcore.privacy.beside import Concentrated as Concentrated
from dpcore.privacy.beside import DiscreteGaussian as DiscreteGaussian
from dpcore.privacy.beside import Guarantee as Guarantee
from dpcore.privacy.beside import Laplace as Laplace
from dpcore.privacy.mechanism import Mechanism as Mechanism
from dpcore.privacy.mechanism import Reading as Reading
from dpcore.privacy.mechanism import Release as Release
from dpcore.privacy.sampling import SAMPLERS as SAMPLERS
from dpcore.privacy.schedule import Recipe as Recipe
from dpcore.runs.followed.start import follow as follow
from dpcore.training.config import RunConfig as RunConfig

__version__: str
