package specfn

import "math"

// EI returns h(z) = φ(z) + zΦ(z) and Φ(z), given φ(z) and erf(z/√2). The relative errors are below
// 1e-12 while the results are not subnormal.
//
// For z < -2 let t = -z, and let M = (1-Φ(t))/φ(t) be the Mills ratio. Then t M and t² (1 - t M) are
// polynomials in 12/(t+4) - 1, interpolated at 17 Chebyshev points.
func EI(z, pdf, erf float64) (h, cdf float64) {
	if z >= -2 {
		cdf = 0.5 + 0.5*erf
		return pdf + z*cdf, cdf
	}
	t := -z
	v := 12/(t+4) - 1
	m, r := mills[len(mills)-1], rest[len(rest)-1]
	for i := len(mills) - 2; i >= 0; i-- {
		m, r = math.FMA(m, v, mills[i]), math.FMA(r, v, rest[i])
	}
	return pdf * r / (t * t), pdf * m / t
}

// mills has the coefficients of t M.
var mills = [...]float64{
	9.8505570606345837e-1,
	-4.29313411872658882e-2,
	-4.83426086896813322e-2,
	-3.06736108494080816e-2,
	-1.42055282028963305e-2,
	-4.91840727384336927e-3,
	-1.17201795623360442e-3,
	-1.21757508691160618e-4,
	3.31195639393950244e-5,
	1.53145733518037316e-5,
	7.39860025086590365e-7,
	-1.0293589428113701e-6,
	-2.02778202363120061e-7,
	6.43002764133867038e-8,
	2.31742254783806673e-8,
	-3.40742639317742571e-9,
	-1.74658289415956237e-9,
}

// rest has the coefficients of t² (1 - t M).
var rest = [...]float64{
	9.56434811938664304e-1,
	-1.21698599839099931e-1,
	-1.27607789126168751e-1,
	-6.70002242998509372e-2,
	-1.88673123779575012e-2,
	1.13687772766932774e-3,
	4.11308850961839763e-3,
	2.11482730707159386e-3,
	4.97432473611751839e-4,
	-2.21671016313911511e-5,
	-5.02994604401515095e-5,
	-8.82084742490609174e-6,
	3.33425071732472743e-6,
	1.29613901392215334e-6,
	-1.92189097063554157e-7,
	-1.06238139989530253e-7,
	8.82884233413923326e-9,
}
