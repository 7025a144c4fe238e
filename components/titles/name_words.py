# SPDX-License-Identifier: Apache-2.0
"""
Words that tell what kind of thing a name is: instruments, companies, places, descriptions.

Lists of language, never of one corpus (N11). All are case-folded and without dots.
"""

# Last words of company names that say nothing but the legal form.
SUFFIXES = frozenset(
    "inc incorporated corp corporation llc llp lp lllp ltd limited plc co company gmbh ag sa nv bv ab asa "
    "oy kg kgaa srl sarl spa sas pte pty pvt ltda bhd sdn na fsb pc pllc aps as kk se scs sca sl cv mbh "
    "eg ev fze fzco jsc ojsc sà rl sàrl zoo pjsc zao ooo בעמ".split()
)
# A word that makes a run of capitals the name of an organisation, though it is no legal form.
BODY_WORDS = frozenset(
    "trust fund bank association university college institute foundation authority department ministry "
    "agency city county town council partnership society church hospital school district bureau republic "
    "union federation league municipality museum archives laboratories railway company corporation "
    "associates".split()
)
# Words that name no one company: half the companies have one of them.
COMMON_WORDS = BODY_WORDS | frozenset(
    "state commission board group partners holdings ventures capital management services club estate "
    "office center centre industries enterprises systems technologies brothers sons government holding "
    "mutual operating general international solutions global".split()
)
# Common last words of company names, longest first, for names written without spaces.
CORPORATE_TAILS = tuple(
    sorted(
        "inc corp corporation llc llp lp ltd limited plc co company sa nv ag holdings holding group "
        "technologies technology international enterprises industries resources systems solutions services "
        "partners financial bancorp bancshares therapeutics pharmaceuticals pharma biosciences sciences "
        "energy entertainment communications networks software media trust fund funds capital investment "
        "investments insurance mortgage products stores foods medical health healthcare global worldwide "
        "america american electric power oil gas mining gold realty properties estate interactive online "
        "digital wireless semiconductor laboratories labs motors airlines brands beauty golf sports "
        "acquisition ventures management marketing securities income municipal government series account life "
        "biomedical biopharma genetics diagnostics devices instruments materials chemical water solar "
        "environmental".split(),
        key=len,
        reverse=True,
    )
)
# The noun that makes a run of words the title of an instrument.
STRONG_HEADS = frozenset(
    "agreement agreements agreeement contract contracts amendment addendum supplement guaranty guarantee "
    "guaranties guarantees mortgage lease sublease deed indenture bylaws by-laws attorney indemnity "
    "indemnification assignment license licence covenant waiver release assumption subordination estoppel "
    "subscription memorandum nda mou undertaking note bond debenture will constitution charter opinion "
    "resolution resolutions judgment judgement decision decree affidavit testament treaty convention "
    "prospectus handbook deeds notes bonds memoranda statute ordinance compact".split()
)
WEAK_HEADS = frozenset(
    "sheet order plan policy statement terms conditions certificate letter consent settlement articles "
    "declaration form notice proposal report minutes manual guidelines code rules regulations act rider "
    "schedule offer quote quotation invoice receipt application petition complaint motion brief award "
    "ruling protocol procedure procedures standard guide acknowledgment acknowledgement checklist summary "
    "warrant option pledge understanding".split()
)
HEBREW_HEADS = frozenset(
    "הסכם חוזה נספח תוספת תיקון משכנתא משכון שטר ערבות כתב ייפוי תקנון צוואה התחייבות פסק החלטה אישור "
    "מכתב הצהרה מזכר פרוטוקול חוות נוהל תצהיר".split()
)
INSTRUMENT_HEADS = STRONG_HEADS | WEAK_HEADS | HEBREW_HEADS
# Instruments that one side gives: "Guaranty of A", not "Guaranty with A".
ONE_SIDED = frozenset(
    "guaranty guarantee guaranties guarantees note notes bylaws by-laws attorney will testament "
    "constitution charter articles declaration certificate policy statement opinion affidavit undertaking "
    "resolution resolutions mortgage deed bond indemnity plan report waiver release consent handbook "
    "manual acknowledgment acknowledgement covenant form ערבות שטר כתב ייפוי צוואה תקנון התחייבות הצהרה "
    "תצהיר".split()
)
SMALL_WORDS = frozenset(
    "a an and as at but by for from in into of on or nor per the to via with without v vs de la du des y und".split()
)
MONTHS = frozenset(
    "january february march april may june july august september october november december jan feb mar "
    "apr jun jul aug sep sept oct nov dec".split()
)
# What a side of an instrument is called when it is not named.
ROLES = frozenset(
    "licensor licensee developer client customer supplier seller buyer purchaser company consultant "
    "reseller distributor franchisee franchisor agent vendor contractor subcontractor owner operator "
    "lender borrower mortgagor mortgagee landlord tenant lessor lessee guarantor beneficiary trustee "
    "manufacturer provider recipient discloser disclosing receiving service employer employee executive "
    "investor sponsor affiliate publisher author participant bidder assignor assignee grantor grantee "
    "maker holder payee depositor servicer issuer underwriter advisor adviser parent subsidiary merchant "
    "carrier shipper hotel athlete artist university bank fund trust corporation partnership individual "
    "user members member principal representative producer broker dealer host party parties first second "
    "third undersigned shareholder".split()
)
# Words of file names that do not tell which document it is.
PLAIN_FILE_WORDS = frozenset(
    "template sample standard general mutual two way one unilateral basic generic nondisclosure "
    "confidentiality confidential non co disclosure secrecy nda mnda cda agmt agreementtemplate "
    "attachment annex annexure appendix exhibit form blank fillable client-fill document doc docs my rev "
    "version ver january february march april june july august september october november december jan "
    "feb mar apr jun jul aug sep sept oct nov dec en eng english final amend amended restated ex".split()
)
# States and countries by whose law companies are formed; alone they are no party.
PLACES = frozenset(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii "
    "idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan "
    "minnesota mississippi missouri montana nebraska nevada hampshire jersey mexico york carolina dakota "
    "ohio oklahoma oregon pennsylvania rhode island tennessee texas utah vermont virginia washington "
    "wisconsin wyoming columbia puerto rico ontario quebec alberta british israel canada england wales "
    "scotland ireland france germany italy spain switzerland netherlands belgium denmark sweden norway "
    "finland austria china japan korea india singapore australia usa u.s u.s.a united states america "
    "kingdom uk bermuda cayman islands new north south west east hong kong africa".split()
)
